/**
 * Translates variables of other clients to `${NAME}`. Does not resolve them. Variables without an equivalent
 * stay and get a note.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is about them
import type { FileDialect } from "./client.ts";

/** Notes for the user, each once. */
export interface Notes {
  readonly texts: Set<string>;
  /** What MetaMCP does not read, so that the server would lack it. */
  readonly unread: Set<string>;
}

/** Variables of editors for folders that only the editor knows. */
const FOLDER =
  /\$\{(workspaceFolder(?:Basename)?(?::[^}]*)?|workspaceRoot|cwd|file[A-Za-z]*|relativeFile)\}/g;

export function translateVariables(text: string, dialect: FileDialect, notes: Notes): string {
  const common = text
    .replaceAll(/\$\{env:([A-Za-z_]\w*)(?::-?([^}]*))?\}/g, (_, name: string, preset?: string) =>
      reference(name, preset),
    )
    .replaceAll(/\$\{input:([^}]+)\}/g, (_, id: string) => inputReference(id, notes))
    .replaceAll(/\{env:([A-Za-z_]\w*)\}/g, (_, name: string) => reference(name))
    .replaceAll(/\$\{\{\s*(?:secrets|inputs)\.([\w./-]+)\s*\}\}/g, (_, id: string) =>
      inputReference(id, notes),
    )
    .replaceAll("${userHome}", "${HOME}")
    .replaceAll("${pathSeparator}", "/")
    .replaceAll("${/}", "/");
  for (const [written] of common.matchAll(FOLDER)) {
    notes.texts.add(`${written} works only in that client; replace it with a path`);
  }
  const [secretFile] = /\$?\{file:[^}]*\}/.exec(common) ?? [];
  if (secretFile)
    notes.unread.add("a value comes from a file, which MetaMCP does not read; write it as ${NAME}");
  if (!dialect.bareVariables) return common;
  return common.replaceAll(/\$([A-Za-z_]\w*)/g, (_, name: string) => reference(name));
}

function reference(name: string, preset?: string): string {
  return preset === undefined ? `\${${name}}` : `\${${name}:-${preset}}`;
}

/** The client asks its user for the value or stores it. MetaMCP reads it from the environment instead. */
function inputReference(id: string, notes: Notes): string {
  const name = id
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_|_$/g, "")
    .replace(/^(?=\d|$)/, "INPUT_")
    .toUpperCase();
  notes.texts.add(`set ${name}: that client asks for it or stores it itself`);
  return reference(name);
}
