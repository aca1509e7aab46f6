/** The server name under which MetaMCP's own tools are called. No configured server can have it. */
export const BUILTIN_SERVER = "metamcp";
