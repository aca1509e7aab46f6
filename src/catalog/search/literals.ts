/**
 * Replaces literals in a question (paths, URLs, mail addresses, file names) by words for what they are, since
 * their parts say nothing about the tool.
 */

/** File extensions and the words for them. */
const KINDS: readonly (readonly [string, string])[] = [
  ["xlsx xls ods", "excel spreadsheet file"],
  ["csv tsv", "csv file"],
  ["pptx ppt odp", "powerpoint presentation file"],
  ["docx doc odt rtf", "word document file"],
  ["pdf", "pdf file"],
  ["png jpg jpeg gif webp bmp svg tiff", "image file"],
  ["mp4 mov avi mkv webm", "video file"],
  ["mp3 wav flac ogg m4a", "audio file"],
  ["md markdown", "markdown file"],
  ["txt log", "text file"],
  ["html htm", "html file"],
  ["json yaml yml toml xml", "file"],
  ["zip tar gz rar 7z", "zip archive file"],
  ["py js ts tsx jsx java c cpp go rs rb php sh css", "code file"],
  ["sql db sqlite", "database file"],
];
const BY_EXTENSION = new Map(
  KINDS.flatMap(([extensions, kind]) => extensions.split(" ").map((one): [string, string] => [one, kind])),
);

const URL_PATTERN = /\b(?:https?|wss?|ftp):\/\/[^\s"'<>]+/gi;
const MAIL = /[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}/g;
const PATH = /(?<![\w/])(?:~|\.{1,2})?(?:\/[\w.@+-]+){2,}\/?|(?<!\w)[A-Za-z]:\\[^\s"'<>]+/g;
const FILE = /(?<![\w/.])[\w-]{1,80}\.([A-Za-z0-9]{1,5})(?![\w/])/g;
const EXTENSION = /\.([A-Za-z0-9]{1,8})\.*$/;

/** "save it to /tmp/a/b.md" becomes "save it to markdown file path". */
export function describeLiterals(text: string): string {
  return text
    .replaceAll(URL_PATTERN, (url) => ` ${hostNames(url)} url `)
    .replaceAll(MAIL, " email address ")
    .replaceAll(
      PATH,
      (path) => ` ${kindOf(EXTENSION.exec(path)?.[1]) ?? "directory"} path${finalStop(path)} `,
    )
    .replaceAll(FILE, (file, extension: string) => kindOf(extension) ?? file);
}

function kindOf(extension: string | undefined): string | undefined {
  return extension === undefined ? undefined : BY_EXTENSION.get(extension.toLowerCase());
}

/** A full stop after a path ends the sentence, so it stays. */
function finalStop(path: string): string {
  return path.endsWith(".") ? "." : "";
}

/** The host without `www` and the top-level domain, because it may name a server: youtube, github, arxiv. */
function hostNames(url: string): string {
  const host = url.replace(/^[a-z]+:\/\//i, "").split(/[/?#:]/, 1)[0] ?? "";
  return host
    .split(".")
    .slice(0, -1)
    .filter((part) => part !== "www")
    .join(" ");
}
