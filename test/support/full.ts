/** `METAMCP_FULL=1`: long tests in full length, and every cell of a matrix. */
export const FULL = Boolean(process.env["METAMCP_FULL"]);
