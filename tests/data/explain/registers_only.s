
registers_only.so:     file format elf64-x86-64


Disassembly of section .text:

0000000000001000 <_pocl_kernel_registers_only>:
    1000:	push   %rbp
    1001:	mov    %rsp,%rbp
    1004:	push   %r15
    1006:	push   %r14
    1008:	push   %r13
    100a:	push   %r12
    100c:	push   %rbx
    100d:	and    $0xfffffffffffffff8,%rsp
    1011:	sub    $0x48,%rsp
    1015:	mov    0x20(%rbp),%r10
    1019:	mov    0x18(%rbp),%rbx
    101d:	lea    0x0(,%rbx,8),%rax
    1025:	mov    %rax,0x40(%rsp)
    102a:	lea    0x0(,%r10,8),%rax
    1032:	mov    %rax,0x28(%rsp)
    1037:	lea    0x7(%rdi),%eax
    103a:	test   %edi,%edi
    103c:	cmovns %edi,%eax
    103f:	sar    $0x3,%eax
    1042:	vbroadcastss %xmm0,%ymm0
    1047:	movslq %eax,%rdi
    104a:	lea    0x3(%rsi),%eax
    104d:	test   %esi,%esi
    104f:	cmovns %esi,%eax
    1052:	sar    $0x2,%eax
    1055:	movslq %eax,%rsi
    1058:	mov    %edx,0xc(%rsp)
    105c:	mov    %edx,%eax
    105e:	mov    %rax,0x38(%rsp)
    1063:	vbroadcastss %xmm1,%ymm2
    1068:	shl    $0x3,%ebx
    106b:	movslq %ebx,%rax
    106e:	shl    $0x5,%rax
    1072:	add    %rcx,%rax
    1075:	mov    %rax,0x18(%rsp)
    107a:	mov    %rdi,0x20(%rsp)
    107f:	mov    %rdi,%rcx
    1082:	shl    $0x5,%rcx
    1086:	shl    $0x3,%r10d
    108a:	movslq %r10d,%rax
    108d:	shl    $0x4,%rax
    1091:	add    %r8,%rax
    1094:	mov    %rax,0x10(%rsp)
    1099:	shl    $0x4,%rsi
    109d:	xor    %edx,%edx
    109f:	vxorps %xmm3,%xmm3,%xmm3
    10a3:	jmp    10c8 <_pocl_kernel_registers_only+0xc8>
    10a5:	data16 cs nopw 0x0(%rax,%rax,1)
    10b0:	mov    0x30(%rsp),%rdx
    10b5:	inc    %rdx
    10b8:	addq   $0x10,0x10(%rsp)
    10be:	cmp    $0x8,%rdx
    10c2:	je     1261 <_pocl_kernel_registers_only+0x261>
    10c8:	mov    0x28(%rsp),%rax
    10cd:	mov    %rdx,0x30(%rsp)
    10d2:	add    %edx,%eax
    10d4:	shl    $0x2,%eax
    10d7:	movslq %eax,%rdi
    10da:	lea    0x1(%rdi),%r15
    10de:	lea    0x2(%rdi),%rax
    10e2:	mov    0x20(%rsp),%rdx
    10e7:	mov    %rdx,%r11
    10ea:	imul   %rdi,%r11
    10ee:	or     $0x3,%rdi
    10f2:	imul   %rdx,%r15
    10f6:	imul   %rdx,%rax
    10fa:	imul   %rdx,%rdi
    10fe:	mov    0x18(%rsp),%r13
    1103:	xor    %r10d,%r10d
    1106:	jmp    1168 <_pocl_kernel_registers_only+0x168>
    1108:	nopl   0x0(%rax,%rax,1)
    1110:	vmulps %ymm7,%ymm0,%ymm7
    1114:	lea    (%r11,%rbx,1),%rdx
    1118:	shl    $0x5,%rdx
    111c:	vmovaps %ymm7,(%r9,%rdx,1)
    1122:	vmulps %ymm6,%ymm0,%ymm6
    1126:	lea    (%r15,%rbx,1),%rdx
    112a:	shl    $0x5,%rdx
    112e:	vmovaps %ymm6,(%r9,%rdx,1)
    1134:	vmulps %ymm5,%ymm0,%ymm5
    1138:	lea    (%rax,%rbx,1),%rdx
    113c:	shl    $0x5,%rdx
    1140:	vmovaps %ymm5,(%r9,%rdx,1)
    1146:	vmulps %ymm4,%ymm0,%ymm4
    114a:	add    %rdi,%rbx
    114d:	shl    $0x5,%rbx
    1151:	vmovaps %ymm4,(%r9,%rbx,1)
    1157:	inc    %r10
    115a:	add    $0x20,%r13
    115e:	cmp    $0x8,%r10
    1162:	je     10b0 <_pocl_kernel_registers_only+0xb0>
    1168:	mov    0x40(%rsp),%rdx
    116d:	lea    (%r10,%rdx,1),%r8d
    1171:	cmpl   $0x0,0xc(%rsp)
    1176:	jle    11e0 <_pocl_kernel_registers_only+0x1e0>
    1178:	vxorps %xmm7,%xmm7,%xmm7
    117c:	mov    0x38(%rsp),%rbx
    1181:	mov    0x10(%rsp),%r12
    1186:	mov    %r13,%r14
    1189:	vxorps %xmm6,%xmm6,%xmm6
    118d:	vxorps %xmm5,%xmm5,%xmm5
    1191:	vxorps %xmm4,%xmm4,%xmm4
    1195:	data16 cs nopw 0x0(%rax,%rax,1)
    11a0:	vmovaps (%r14),%ymm8
    11a5:	vfmadd231ps (%r12){1to8},%ymm8,%ymm7
    11ac:	vfmadd231ps 0x4(%r12){1to8},%ymm8,%ymm6
    11b4:	vfmadd231ps 0x8(%r12){1to8},%ymm8,%ymm5
    11bc:	vfmadd231ps 0xc(%r12){1to8},%ymm8,%ymm4
    11c4:	add    %rcx,%r14
    11c7:	add    %rsi,%r12
    11ca:	dec    %rbx
    11cd:	jne    11a0 <_pocl_kernel_registers_only+0x1a0>
    11cf:	movslq %r8d,%rbx
    11d2:	vucomiss %xmm3,%xmm1
    11d6:	jne    11ff <_pocl_kernel_registers_only+0x1ff>
    11d8:	jnp    1110 <_pocl_kernel_registers_only+0x110>
    11de:	jmp    11ff <_pocl_kernel_registers_only+0x1ff>
    11e0:	vxorps %xmm7,%xmm7,%xmm7
    11e4:	vxorps %xmm6,%xmm6,%xmm6
    11e8:	vxorps %xmm5,%xmm5,%xmm5
    11ec:	vxorps %xmm4,%xmm4,%xmm4
    11f0:	movslq %r8d,%rbx
    11f3:	vucomiss %xmm3,%xmm1
    11f7:	jne    11ff <_pocl_kernel_registers_only+0x1ff>
    11f9:	jnp    1110 <_pocl_kernel_registers_only+0x110>
    11ff:	lea    (%r11,%rbx,1),%rdx
    1203:	shl    $0x5,%rdx
    1207:	vmulps (%r9,%rdx,1),%ymm2,%ymm8
    120d:	vfmadd213ps %ymm8,%ymm0,%ymm7
    1212:	vmovaps %ymm7,(%r9,%rdx,1)
    1218:	lea    (%r15,%rbx,1),%rdx
    121c:	shl    $0x5,%rdx
    1220:	vmulps (%r9,%rdx,1),%ymm2,%ymm7
    1226:	vfmadd213ps %ymm7,%ymm0,%ymm6
    122b:	vmovaps %ymm6,(%r9,%rdx,1)
    1231:	lea    (%rax,%rbx,1),%rdx
    1235:	shl    $0x5,%rdx
    1239:	vmulps (%r9,%rdx,1),%ymm2,%ymm6
    123f:	vfmadd213ps %ymm6,%ymm0,%ymm5
    1244:	vmovaps %ymm5,(%r9,%rdx,1)
    124a:	add    %rdi,%rbx
    124d:	shl    $0x5,%rbx
    1251:	vmulps (%r9,%rbx,1),%ymm2,%ymm5
    1257:	vfmadd213ps %ymm5,%ymm0,%ymm4
    125c:	jmp    1151 <_pocl_kernel_registers_only+0x151>
    1261:	lea    -0x28(%rbp),%rsp
    1265:	pop    %rbx
    1266:	pop    %r12
    1268:	pop    %r13
    126a:	pop    %r14
    126c:	pop    %r15
    126e:	pop    %rbp
    126f:	vzeroupper
    1272:	ret
    1273:	data16 data16 data16 cs nopw 0x0(%rax,%rax,1)

0000000000001280 <_pocl_kernel_registers_only_workgroup>:
    1280:	push   %rbp
    1281:	push   %r15
    1283:	push   %r14
    1285:	push   %r13
    1287:	push   %r12
    1289:	push   %rbx
    128a:	mov    (%rdi),%rax
    128d:	mov    0x8(%rdi),%rsi
    1291:	mov    (%rax),%ebp
    1293:	mov    (%rsi),%ebx
    1295:	mov    0x10(%rdi),%rax
    1299:	mov    (%rax),%eax
    129b:	mov    0x18(%rdi),%r11
    129f:	mov    0x20(%rdi),%r9
    12a3:	mov    0x28(%rdi),%r8
    12a7:	mov    0x30(%rdi),%rsi
    12ab:	vbroadcastss (%rsi),%ymm0
    12b0:	mov    0x38(%rdi),%rsi
    12b4:	mov    (%rsi),%rsi
    12b7:	lea    0x0(,%rdx,8),%r10
    12bf:	lea    0x0(,%rcx,8),%rdi
    12c7:	mov    %rdi,-0x10(%rsp)
    12cc:	lea    0x7(%rbp),%edi
    12cf:	test   %ebp,%ebp
    12d1:	cmovns %ebp,%edi
    12d4:	sar    $0x3,%edi
    12d7:	vbroadcastss (%r11),%ymm1
    12dc:	movslq %edi,%rbp
    12df:	lea    0x3(%rbx),%edi
    12e2:	test   %ebx,%ebx
    12e4:	cmovns %ebx,%edi
    12e7:	sar    $0x2,%edi
    12ea:	movslq %edi,%rdi
    12ed:	shl    $0x3,%edx
    12f0:	movslq %edx,%rdx
    12f3:	shl    $0x5,%rdx
    12f7:	add    (%r9),%rdx
    12fa:	mov    %rdx,-0x20(%rsp)
    12ff:	mov    %rbp,-0x18(%rsp)
    1304:	mov    %rbp,%rdx
    1307:	shl    $0x5,%rdx
    130b:	shl    $0x3,%ecx
    130e:	movslq %ecx,%rcx
    1311:	shl    $0x4,%rcx
    1315:	add    (%r8),%rcx
    1318:	mov    %rcx,-0x28(%rsp)
    131d:	shl    $0x4,%rdi
    1321:	xor    %ebp,%ebp
    1323:	vxorps %xmm2,%xmm2,%xmm2
    1327:	jmp    1348 <_pocl_kernel_registers_only_workgroup+0xc8>
    1329:	nopl   0x0(%rax)
    1330:	mov    -0x8(%rsp),%rbp
    1335:	inc    %rbp
    1338:	addq   $0x10,-0x28(%rsp)
    133e:	cmp    $0x8,%rbp
    1342:	je     14c6 <_pocl_kernel_registers_only_workgroup+0x246>
    1348:	mov    -0x10(%rsp),%rcx
    134d:	mov    %rbp,-0x8(%rsp)
    1352:	add    %ebp,%ecx
    1354:	shl    $0x2,%ecx
    1357:	movslq %ecx,%rbx
    135a:	lea    0x1(%rbx),%r12
    135e:	lea    0x2(%rbx),%r13
    1362:	mov    -0x18(%rsp),%rcx
    1367:	mov    %rcx,%r9
    136a:	imul   %rbx,%r9
    136e:	or     $0x3,%rbx
    1372:	imul   %rcx,%r12
    1376:	imul   %rcx,%r13
    137a:	imul   %rcx,%rbx
    137e:	mov    -0x20(%rsp),%r14
    1383:	xor    %r8d,%r8d
    1386:	jmp    13e4 <_pocl_kernel_registers_only_workgroup+0x164>
    1388:	nopl   0x0(%rax,%rax,1)
    1390:	vmulps %ymm6,%ymm1,%ymm6
    1394:	lea    (%r9,%rcx,1),%rbp
    1398:	shl    $0x5,%rbp
    139c:	vmovaps %ymm6,(%rsi,%rbp,1)
    13a1:	vmulps %ymm5,%ymm1,%ymm5
    13a5:	lea    (%r12,%rcx,1),%rbp
    13a9:	shl    $0x5,%rbp
    13ad:	vmovaps %ymm5,(%rsi,%rbp,1)
    13b2:	vmulps %ymm4,%ymm1,%ymm4
    13b6:	lea    (%rcx,%r13,1),%rbp
    13ba:	shl    $0x5,%rbp
    13be:	vmovaps %ymm4,(%rsi,%rbp,1)
    13c3:	vmulps %ymm3,%ymm1,%ymm3
    13c7:	add    %rbx,%rcx
    13ca:	shl    $0x5,%rcx
    13ce:	vmovaps %ymm3,(%rsi,%rcx,1)
    13d3:	inc    %r8
    13d6:	add    $0x20,%r14
    13da:	cmp    $0x8,%r8
    13de:	je     1330 <_pocl_kernel_registers_only_workgroup+0xb0>
    13e4:	lea    (%r8,%r10,1),%r11d
    13e8:	vxorps %xmm6,%xmm6,%xmm6
    13ec:	test   %eax,%eax
    13ee:	jle    1450 <_pocl_kernel_registers_only_workgroup+0x1d0>
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
    143b:	movslq %r11d,%rcx
    143e:	vucomiss %xmm2,%xmm0
    1442:	jne    146b <_pocl_kernel_registers_only_workgroup+0x1eb>
    1444:	jnp    1390 <_pocl_kernel_registers_only_workgroup+0x110>
    144a:	jmp    146b <_pocl_kernel_registers_only_workgroup+0x1eb>
    144c:	nopl   0x0(%rax)
    1450:	vxorps %xmm5,%xmm5,%xmm5
    1454:	vxorps %xmm4,%xmm4,%xmm4
    1458:	vxorps %xmm3,%xmm3,%xmm3
    145c:	movslq %r11d,%rcx
    145f:	vucomiss %xmm2,%xmm0
    1463:	jne    146b <_pocl_kernel_registers_only_workgroup+0x1eb>
    1465:	jnp    1390 <_pocl_kernel_registers_only_workgroup+0x110>
    146b:	lea    (%r9,%rcx,1),%rbp
    146f:	shl    $0x5,%rbp
    1473:	vmulps (%rsi,%rbp,1),%ymm0,%ymm7
    1478:	vfmadd213ps %ymm7,%ymm1,%ymm6
    147d:	vmovaps %ymm6,(%rsi,%rbp,1)
    1482:	lea    (%r12,%rcx,1),%rbp
    1486:	shl    $0x5,%rbp
    148a:	vmulps (%rsi,%rbp,1),%ymm0,%ymm6
    148f:	vfmadd213ps %ymm6,%ymm1,%ymm5
    1494:	vmovaps %ymm5,(%rsi,%rbp,1)
    1499:	lea    (%rcx,%r13,1),%rbp
    149d:	shl    $0x5,%rbp
    14a1:	vmulps (%rsi,%rbp,1),%ymm0,%ymm5
    14a6:	vfmadd213ps %ymm5,%ymm1,%ymm4
    14ab:	vmovaps %ymm4,(%rsi,%rbp,1)
    14b0:	add    %rbx,%rcx
    14b3:	shl    $0x5,%rcx
    14b7:	vmulps (%rsi,%rcx,1),%ymm0,%ymm4
    14bc:	vfmadd213ps %ymm4,%ymm1,%ymm3
    14c1:	jmp    13ce <_pocl_kernel_registers_only_workgroup+0x14e>
    14c6:	pop    %rbx
    14c7:	pop    %r12
    14c9:	pop    %r13
    14cb:	pop    %r14
    14cd:	pop    %r15
    14cf:	pop    %rbp
    14d0:	vzeroupper
    14d3:	ret
    14d4:	data16 data16 cs nopw 0x0(%rax,%rax,1)

00000000000014e0 <_pocl_kernel_registers_only_workgroup_fast>:
    14e0:	push   %rbp
    14e1:	push   %r15
    14e3:	push   %r14
    14e5:	push   %r13
    14e7:	push   %r12
    14e9:	push   %rbx
    14ea:	mov    (%rdi),%rax
    14ed:	mov    0x8(%rdi),%rsi
    14f1:	mov    (%rax),%eax
    14f3:	mov    (%rsi),%ebp
    14f5:	mov    0x10(%rdi),%rsi
    14f9:	mov    (%rsi),%r11d
    14fc:	mov    0x30(%rdi),%rsi
    1500:	vbroadcastss (%rsi),%ymm0
    1505:	mov    0x18(%rdi),%r9
    1509:	mov    0x38(%rdi),%rsi
    150d:	lea    0x0(,%rdx,8),%r8
    1515:	lea    0x0(,%rcx,8),%rbx
    151d:	mov    %rbx,-0x10(%rsp)
    1522:	lea    0x7(%rax),%ebx
    1525:	test   %eax,%eax
    1527:	cmovns %eax,%ebx
    152a:	sar    $0x3,%ebx
    152d:	vbroadcastss (%r9),%ymm1
    1532:	movslq %ebx,%rbx
    1535:	lea    0x3(%rbp),%eax
    1538:	test   %ebp,%ebp
    153a:	cmovns %ebp,%eax
    153d:	sar    $0x2,%eax
    1540:	cltq
    1542:	shl    $0x3,%edx
    1545:	movslq %edx,%rdx
    1548:	shl    $0x5,%rdx
    154c:	add    0x20(%rdi),%rdx
    1550:	mov    %rdx,-0x20(%rsp)
    1555:	mov    %rbx,-0x18(%rsp)
    155a:	shl    $0x5,%rbx
    155e:	shl    $0x3,%ecx
    1561:	movslq %ecx,%rcx
    1564:	shl    $0x4,%rcx
    1568:	add    0x28(%rdi),%rcx
    156c:	mov    %rcx,-0x28(%rsp)
    1571:	shl    $0x4,%rax
    1575:	xor    %edx,%edx
    1577:	vxorps %xmm2,%xmm2,%xmm2
    157b:	jmp    1598 <_pocl_kernel_registers_only_workgroup_fast+0xb8>
    157d:	nopl   (%rax)
    1580:	mov    -0x8(%rsp),%rdx
    1585:	inc    %rdx
    1588:	addq   $0x10,-0x28(%rsp)
    158e:	cmp    $0x8,%rdx
    1592:	je     1716 <_pocl_kernel_registers_only_workgroup_fast+0x236>
    1598:	mov    -0x10(%rsp),%rcx
    159d:	mov    %rdx,-0x8(%rsp)
    15a2:	add    %edx,%ecx
    15a4:	shl    $0x2,%ecx
    15a7:	movslq %ecx,%rdx
    15aa:	lea    0x1(%rdx),%r13
    15ae:	lea    0x2(%rdx),%r10
    15b2:	mov    -0x18(%rsp),%rcx
    15b7:	mov    %rcx,%rdi
    15ba:	imul   %rdx,%rdi
    15be:	or     $0x3,%rdx
    15c2:	imul   %rcx,%r13
    15c6:	imul   %rcx,%r10
    15ca:	imul   %rcx,%rdx
    15ce:	mov    -0x20(%rsp),%r15
    15d3:	xor    %r9d,%r9d
    15d6:	jmp    1634 <_pocl_kernel_registers_only_workgroup_fast+0x154>
    15d8:	nopl   0x0(%rax,%rax,1)
    15e0:	vmulps %ymm6,%ymm1,%ymm6
    15e4:	lea    (%rdi,%rcx,1),%rbp
    15e8:	shl    $0x5,%rbp
    15ec:	vmovaps %ymm6,(%rsi,%rbp,1)
    15f1:	vmulps %ymm5,%ymm1,%ymm5
    15f5:	lea    (%rcx,%r13,1),%rbp
    15f9:	shl    $0x5,%rbp
    15fd:	vmovaps %ymm5,(%rsi,%rbp,1)
    1602:	vmulps %ymm4,%ymm1,%ymm4
    1606:	lea    (%r10,%rcx,1),%rbp
    160a:	shl    $0x5,%rbp
    160e:	vmovaps %ymm4,(%rsi,%rbp,1)
    1613:	vmulps %ymm3,%ymm1,%ymm3
    1617:	add    %rdx,%rcx
    161a:	shl    $0x5,%rcx
    161e:	vmovaps %ymm3,(%rsi,%rcx,1)
    1623:	inc    %r9
    1626:	add    $0x20,%r15
    162a:	cmp    $0x8,%r9
    162e:	je     1580 <_pocl_kernel_registers_only_workgroup_fast+0xa0>
    1634:	lea    (%r9,%r8,1),%r14d
    1638:	vxorps %xmm6,%xmm6,%xmm6
    163c:	test   %r11d,%r11d
    163f:	jle    16a0 <_pocl_kernel_registers_only_workgroup_fast+0x1c0>
    1641:	mov    %r11,%rcx
    1644:	mov    -0x28(%rsp),%r12
    1649:	mov    %r15,%rbp
    164c:	vxorps %xmm5,%xmm5,%xmm5
    1650:	vxorps %xmm4,%xmm4,%xmm4
    1654:	vxorps %xmm3,%xmm3,%xmm3
    1658:	nopl   0x0(%rax,%rax,1)
    1660:	vmovaps 0x0(%rbp),%ymm7
    1665:	vfmadd231ps (%r12){1to8},%ymm7,%ymm6
    166c:	vfmadd231ps 0x4(%r12){1to8},%ymm7,%ymm5
    1674:	vfmadd231ps 0x8(%r12){1to8},%ymm7,%ymm4
    167c:	vfmadd231ps 0xc(%r12){1to8},%ymm7,%ymm3
    1684:	add    %rbx,%rbp
    1687:	add    %rax,%r12
    168a:	dec    %rcx
    168d:	jne    1660 <_pocl_kernel_registers_only_workgroup_fast+0x180>
    168f:	movslq %r14d,%rcx
    1692:	vucomiss %xmm2,%xmm0
    1696:	jne    16bb <_pocl_kernel_registers_only_workgroup_fast+0x1db>
    1698:	jnp    15e0 <_pocl_kernel_registers_only_workgroup_fast+0x100>
    169e:	jmp    16bb <_pocl_kernel_registers_only_workgroup_fast+0x1db>
    16a0:	vxorps %xmm5,%xmm5,%xmm5
    16a4:	vxorps %xmm4,%xmm4,%xmm4
    16a8:	vxorps %xmm3,%xmm3,%xmm3
    16ac:	movslq %r14d,%rcx
    16af:	vucomiss %xmm2,%xmm0
    16b3:	jne    16bb <_pocl_kernel_registers_only_workgroup_fast+0x1db>
    16b5:	jnp    15e0 <_pocl_kernel_registers_only_workgroup_fast+0x100>
    16bb:	lea    (%rdi,%rcx,1),%rbp
    16bf:	shl    $0x5,%rbp
    16c3:	vmulps (%rsi,%rbp,1),%ymm0,%ymm7
    16c8:	vfmadd213ps %ymm7,%ymm1,%ymm6
    16cd:	vmovaps %ymm6,(%rsi,%rbp,1)
    16d2:	lea    (%rcx,%r13,1),%rbp
    16d6:	shl    $0x5,%rbp
    16da:	vmulps (%rsi,%rbp,1),%ymm0,%ymm6
    16df:	vfmadd213ps %ymm6,%ymm1,%ymm5
    16e4:	vmovaps %ymm5,(%rsi,%rbp,1)
    16e9:	lea    (%r10,%rcx,1),%rbp
    16ed:	shl    $0x5,%rbp
    16f1:	vmulps (%rsi,%rbp,1),%ymm0,%ymm5
    16f6:	vfmadd213ps %ymm5,%ymm1,%ymm4
    16fb:	vmovaps %ymm4,(%rsi,%rbp,1)
    1700:	add    %rdx,%rcx
    1703:	shl    $0x5,%rcx
    1707:	vmulps (%rsi,%rcx,1),%ymm0,%ymm4
    170c:	vfmadd213ps %ymm4,%ymm1,%ymm3
    1711:	jmp    161e <_pocl_kernel_registers_only_workgroup_fast+0x13e>
    1716:	pop    %rbx
    1717:	pop    %r12
    1719:	pop    %r13
    171b:	pop    %r14
    171d:	pop    %r15
    171f:	pop    %rbp
    1720:	vzeroupper
    1723:	ret
