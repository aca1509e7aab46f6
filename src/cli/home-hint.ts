/** What to do if a file of MetaMCP cannot be written: no space, or no permission. */
import { codeOf } from "../home/file.ts";
import { homeFolder } from "../home/home.ts";

const NOT_WRITABLE = new Set(["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS"]);

/** A sentence to append, or nothing for other errors. */
export function homeHint(error: unknown): string {
  if (!NOT_WRITABLE.has(codeOf(error) ?? "")) return "";
  return `. MetaMCP keeps its files in ${homeFolder(process.env)}; to use another folder, set METAMCP_HOME.`;
}
