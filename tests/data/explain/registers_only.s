0000000000001280 <_pocl_kernel_registers_only_workgroup>:
    13f0:	mov    %rax,%rcx
    13f3:	mov    -0x28(%rsp),%r15
    13f8:	mov    %r14,%rbp
    13fb:	vxorps %xmm5,%xmm5,%xmm5
    13ff:	vxorps %xmm4,%xmm4,%xmm4
    1403:	vxorps %xmm3,%xmm3,%xmm3
    1407:	nopw   0x0(%rax,%rax,1)
    1410:	vmovaps 0x0(%rbp),%ymm7
    1415:	vfmadd231ps (%r15){1to8},%ymm7,%ymm6
    141b:	vfmadd231ps 0x4(%r15){1to8},%ymm7,%ymm5
    1422:	vfmadd231ps 0x8(%r15){1to8},%ymm7,%ymm4
    1429:	vfmadd231ps 0xc(%r15){1to8},%ymm7,%ymm3
    1430:	add    %rdx,%rbp
    1433:	add    %rdi,%r15
    1436:	dec    %rcx
    1439:	jne    1410 <_pocl_kernel_registers_only_workgroup+0x190>
