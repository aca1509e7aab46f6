/** The little of WebAssembly that the host uses; the types of Node have none of it. */
declare namespace WebAssembly {
  interface Module {
    readonly __module: unique symbol;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  class RuntimeError extends Error {}
  function compile(bytes: Uint8Array): Promise<Module>;
}
type BufferSource = ArrayBuffer | ArrayBufferView;
