/** The types of WebAssembly that the host uses. The types of Node lack them. */
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
