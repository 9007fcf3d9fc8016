// This declares the part of WebGPU's C interface, as wgpu-native has it, that is used here. No Debian package
// has its headers, and nothing of it is linked. Names are the interface's own without their prefix WGPU or
// wgpu, and tests/webgpu/check_program.py compares all of them with the headers that come with PyPI's wgpu.
#pragma once

#include <cstddef>
#include <cstdint>

namespace duogemm::webgpu::api {

// The interface differs from one to the next: these declarations are for this one alone.
inline constexpr std::uint32_t major_version = 29;

using Bool = std::uint32_t;
using Flags = std::uint64_t;
using Limit = std::uint32_t;
using Status = std::uint32_t;

using Instance = struct InstanceImpl*;
using Adapter = struct AdapterImpl*;
using Device = struct DeviceImpl*;
using Queue = struct QueueImpl*;
using Buffer = struct BufferImpl*;
using ShaderModule = struct ShaderModuleImpl*;
using BindGroup = struct BindGroupImpl*;
using BindGroupLayout = struct BindGroupLayoutImpl*;
using PipelineLayout = struct PipelineLayoutImpl*;
using ComputePipeline = struct ComputePipelineImpl*;
using QuerySet = struct QuerySetImpl*;
using CommandEncoder = struct CommandEncoderImpl*;
using ComputePassEncoder = struct ComputePassEncoderImpl*;
using CommandBuffer = struct CommandBufferImpl*;

enum class RequestDeviceStatus : std::uint32_t { Success = 1 };
enum class MapAsyncStatus : std::uint32_t { Success = 1 };
enum class ErrorType : std::uint32_t { OutOfMemory = 3 };
enum class DeviceLostReason : std::uint32_t { Unknown = 1 };
enum class CallbackMode : std::uint32_t { AllowSpontaneous = 3 };
enum class AdapterType : std::uint32_t { DiscreteGPU = 1, IntegratedGPU = 2, CPU = 3 };
enum class FeatureName : std::uint32_t { TimestampQuery = 9, Subgroups = 18 };
enum class QueryType : std::uint32_t { Timestamp = 2 };
enum class BufferBindingType : std::uint32_t { Uniform = 2, Storage = 3, ReadOnlyStorage = 4 };
enum class SType : std::uint32_t { ShaderSourceWGSL = 2, InstanceExtras = 0x30004 };
enum InstanceBackend : Flags { InstanceBackend_Vulkan = 1 };
enum ShaderStage : Flags { ShaderStage_Compute = 4 };
enum MapMode : Flags { MapMode_Read = 1 };
enum ShaderRuntimeChecks : Flags { ShaderRuntimeChecks_None = 0 };
enum BufferUsage : Flags {
  BufferUsage_MapRead = 0x1,
  BufferUsage_CopySrc = 0x4,
  BufferUsage_CopyDst = 0x8,
  BufferUsage_Uniform = 0x40,
  BufferUsage_Storage = 0x80,
  BufferUsage_QueryResolve = 0x200,
};

struct ChainedStruct {
  const ChainedStruct* next;
  SType sType;
};

struct Future {
  std::uint64_t id;
};

struct StringView {
  const char* data;
  std::size_t length;
};

using RequestDeviceCallback = void (*)(RequestDeviceStatus, Device, StringView, void*, void*);
using DeviceLostCallback = void (*)(const Device*, DeviceLostReason, StringView, void*, void*);
using UncapturedErrorCallback = void (*)(const Device*, ErrorType, StringView, void*, void*);
using BufferMapCallback = void (*)(MapAsyncStatus, StringView, void*, void*);

struct InstanceExtras {
  ChainedStruct chain;
  Flags backends;
  Flags flags;
  std::uint32_t dx12ShaderCompiler;
  std::uint32_t gles3MinorVersion;
  std::uint32_t glFenceBehaviour;
  StringView dxcPath;
  std::uint32_t dxcMaxShaderModel;
  std::uint32_t dx12PresentationSystem;
  const std::uint8_t* budgetForDeviceCreation;
  const std::uint8_t* budgetForDeviceLoss;
  struct {
    std::uint32_t type;
    void* display;
    int screen;
  } displayHandle;
};

struct InstanceDescriptor {
  const ChainedStruct* nextInChain;
  std::size_t requiredFeatureCount;
  const void* requiredFeatures;
  const void* requiredLimits;
};

struct InstanceEnumerateAdapterOptions {
  const ChainedStruct* nextInChain;
  Flags backends;
};

struct AdapterInfo {
  const ChainedStruct* nextInChain;
  StringView vendor;
  StringView architecture;
  StringView device;
  StringView description;
  std::uint32_t backendType;
  AdapterType adapterType;
  std::uint32_t vendorID;
  std::uint32_t deviceID;
  std::uint32_t subgroupMinSize;
  std::uint32_t subgroupMaxSize;
};

struct Limits {
  const ChainedStruct* nextInChain;
  Limit maxTextureDimension1D;
  Limit maxTextureDimension2D;
  Limit maxTextureDimension3D;
  Limit maxTextureArrayLayers;
  Limit maxBindGroups;
  Limit maxBindGroupsPlusVertexBuffers;
  Limit maxBindingsPerBindGroup;
  Limit maxDynamicUniformBuffersPerPipelineLayout;
  Limit maxDynamicStorageBuffersPerPipelineLayout;
  Limit maxSampledTexturesPerShaderStage;
  Limit maxSamplersPerShaderStage;
  Limit maxStorageBuffersPerShaderStage;
  Limit maxStorageTexturesPerShaderStage;
  Limit maxUniformBuffersPerShaderStage;
  std::uint64_t maxUniformBufferBindingSize;
  std::uint64_t maxStorageBufferBindingSize;
  Limit minUniformBufferOffsetAlignment;
  Limit minStorageBufferOffsetAlignment;
  Limit maxVertexBuffers;
  std::uint64_t maxBufferSize;
  Limit maxVertexAttributes;
  Limit maxVertexBufferArrayStride;
  Limit maxInterStageShaderVariables;
  Limit maxColorAttachments;
  Limit maxColorAttachmentBytesPerSample;
  Limit maxComputeWorkgroupStorageSize;
  Limit maxComputeInvocationsPerWorkgroup;
  Limit maxComputeWorkgroupSizeX;
  Limit maxComputeWorkgroupSizeY;
  Limit maxComputeWorkgroupSizeZ;
  Limit maxComputeWorkgroupsPerDimension;
  Limit maxImmediateSize;
};

struct QueueDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
};

struct RequestDeviceCallbackInfo {
  const ChainedStruct* nextInChain;
  CallbackMode mode;
  RequestDeviceCallback callback;
  void* userdata1;
  void* userdata2;
};

struct DeviceLostCallbackInfo {
  const ChainedStruct* nextInChain;
  CallbackMode mode;
  DeviceLostCallback callback;
  void* userdata1;
  void* userdata2;
};

struct UncapturedErrorCallbackInfo {
  const ChainedStruct* nextInChain;
  UncapturedErrorCallback callback;
  void* userdata1;
  void* userdata2;
};

struct BufferMapCallbackInfo {
  const ChainedStruct* nextInChain;
  CallbackMode mode;
  BufferMapCallback callback;
  void* userdata1;
  void* userdata2;
};

struct DeviceDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
  std::size_t requiredFeatureCount;
  const FeatureName* requiredFeatures;
  const Limits* requiredLimits;
  QueueDescriptor defaultQueue;
  DeviceLostCallbackInfo deviceLostCallbackInfo;
  UncapturedErrorCallbackInfo uncapturedErrorCallbackInfo;
};

struct BufferDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
  Flags usage;
  std::uint64_t size;
  Bool mappedAtCreation;
};

struct ShaderSourceWGSL {
  ChainedStruct chain;
  StringView code;
};

struct ShaderModuleDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
};

struct BufferBindingLayout {
  const ChainedStruct* nextInChain;
  BufferBindingType type;
  Bool hasDynamicOffset;
  std::uint64_t minBindingSize;
};

struct SamplerBindingLayout {
  const ChainedStruct* nextInChain;
  std::uint32_t type;
};

struct TextureBindingLayout {
  const ChainedStruct* nextInChain;
  std::uint32_t sampleType;
  std::uint32_t viewDimension;
  Bool multisampled;
};

struct StorageTextureBindingLayout {
  const ChainedStruct* nextInChain;
  std::uint32_t access;
  std::uint32_t format;
  std::uint32_t viewDimension;
};

struct BindGroupLayoutEntry {
  const ChainedStruct* nextInChain;
  std::uint32_t binding;
  Flags visibility;
  std::uint32_t bindingArraySize;
  BufferBindingLayout buffer;
  SamplerBindingLayout sampler;
  TextureBindingLayout texture;
  StorageTextureBindingLayout storageTexture;
};

struct BindGroupLayoutDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
  std::size_t entryCount;
  const BindGroupLayoutEntry* entries;
};

struct PipelineLayoutDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
  std::size_t bindGroupLayoutCount;
  const BindGroupLayout* bindGroupLayouts;
  std::uint32_t immediateSize;
};

struct ComputeState {
  const ChainedStruct* nextInChain;
  ShaderModule module;
  StringView entryPoint;
  std::size_t constantCount;
  const void* constants;
};

struct ComputePipelineDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
  PipelineLayout layout;
  ComputeState compute;
};

struct BindGroupEntry {
  const ChainedStruct* nextInChain;
  std::uint32_t binding;
  Buffer buffer;
  std::uint64_t offset;
  std::uint64_t size;
  const void* sampler;
  const void* textureView;
};

struct BindGroupDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
  BindGroupLayout layout;
  std::size_t entryCount;
  const BindGroupEntry* entries;
};

struct QuerySetDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
  QueryType type;
  std::uint32_t count;
};

struct PassTimestampWrites {
  const ChainedStruct* nextInChain;
  QuerySet querySet;
  std::uint32_t beginningOfPassWriteIndex;
  std::uint32_t endOfPassWriteIndex;
};

struct ComputePassDescriptor {
  const ChainedStruct* nextInChain;
  StringView label;
  const PassTimestampWrites* timestampWrites;
};

inline constexpr std::uint32_t no_query = 0xffffffff;  // of PassTimestampWrites

// The functions in use, as X(RESULT, NAME, (PARAMETERS)). An object that is released stays as long as
// commands need it.
#define DUOGEMM_WGPU_FUNCTIONS(X)                                                                         \
  X(Instance, CreateInstance, (const InstanceDescriptor*))                                                \
  X(std::size_t, InstanceEnumerateAdapters, (Instance, const InstanceEnumerateAdapterOptions*, Adapter*)) \
  X(Status, AdapterGetInfo, (Adapter, AdapterInfo*))                                                      \
  X(void, AdapterInfoFreeMembers, (AdapterInfo))                                                          \
  X(Status, AdapterGetLimits, (Adapter, Limits*))                                                         \
  X(Bool, AdapterHasFeature, (Adapter, FeatureName))                                                      \
  X(Future, AdapterRequestDevice, (Adapter, const DeviceDescriptor*, RequestDeviceCallbackInfo))          \
  X(Queue, DeviceGetQueue, (Device))                                                                      \
  X(Bool, DevicePoll, (Device, Bool, const std::uint64_t*))                                               \
  X(Buffer, DeviceCreateBuffer, (Device, const BufferDescriptor*))                                        \
  X(ShaderModule, DeviceCreateShaderModuleTrusted, (Device, const ShaderModuleDescriptor*, Flags))        \
  X(BindGroupLayout, DeviceCreateBindGroupLayout, (Device, const BindGroupLayoutDescriptor*))             \
  X(PipelineLayout, DeviceCreatePipelineLayout, (Device, const PipelineLayoutDescriptor*))                \
  X(ComputePipeline, DeviceCreateComputePipeline, (Device, const ComputePipelineDescriptor*))             \
  X(BindGroup, DeviceCreateBindGroup, (Device, const BindGroupDescriptor*))                               \
  X(QuerySet, DeviceCreateQuerySet, (Device, const QuerySetDescriptor*))                                  \
  X(CommandEncoder, DeviceCreateCommandEncoder, (Device, const void*))                                    \
  X(ComputePassEncoder, CommandEncoderBeginComputePass, (CommandEncoder, const ComputePassDescriptor*))   \
  X(void, CommandEncoderCopyBufferToBuffer,                                                               \
    (CommandEncoder, Buffer, std::uint64_t, Buffer, std::uint64_t, std::uint64_t))                        \
  X(void, CommandEncoderResolveQuerySet,                                                                  \
    (CommandEncoder, QuerySet, std::uint32_t, std::uint32_t, Buffer, std::uint64_t))                      \
  X(CommandBuffer, CommandEncoderFinish, (CommandEncoder, const void*))                                   \
  X(void, ComputePassEncoderSetPipeline, (ComputePassEncoder, ComputePipeline))                           \
  X(void, ComputePassEncoderSetBindGroup,                                                                 \
    (ComputePassEncoder, std::uint32_t, BindGroup, std::size_t, const std::uint32_t*))                    \
  X(void, ComputePassEncoderDispatchWorkgroups,                                                           \
    (ComputePassEncoder, std::uint32_t, std::uint32_t, std::uint32_t))                                    \
  X(void, ComputePassEncoderEnd, (ComputePassEncoder))                                                    \
  X(void, QueueSubmit, (Queue, std::size_t, const CommandBuffer*))                                        \
  X(void, QueueWriteBuffer, (Queue, Buffer, std::uint64_t, const void*, std::size_t))                     \
  X(float, QueueGetTimestampPeriod, (Queue))                                                              \
  X(Future, BufferMapAsync, (Buffer, Flags, std::size_t, std::size_t, BufferMapCallbackInfo))             \
  X(const void*, BufferGetConstMappedRange, (Buffer, std::size_t, std::size_t))                           \
  X(void, DeviceRelease, (Device))                                                                        \
  X(void, QueueRelease, (Queue))                                                                          \
  X(void, BufferRelease, (Buffer))                                                                        \
  X(void, ShaderModuleRelease, (ShaderModule))                                                            \
  X(void, BindGroupRelease, (BindGroup))                                                                  \
  X(void, BindGroupLayoutRelease, (BindGroupLayout))                                                      \
  X(void, PipelineLayoutRelease, (PipelineLayout))                                                        \
  X(void, ComputePipelineRelease, (ComputePipeline))                                                      \
  X(void, QuerySetRelease, (QuerySet))                                                                    \
  X(void, CommandEncoderRelease, (CommandEncoder))                                                        \
  X(void, ComputePassEncoderRelease, (ComputePassEncoder))                                                \
  X(void, CommandBufferRelease, (CommandBuffer))

struct Functions {
#define DUOGEMM_WGPU_MEMBER(result, name, parameters) result(*name) parameters;
  DUOGEMM_WGPU_FUNCTIONS(DUOGEMM_WGPU_MEMBER)
#undef DUOGEMM_WGPU_MEMBER
};

}  // namespace duogemm::webgpu::api
