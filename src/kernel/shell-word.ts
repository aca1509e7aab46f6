/** Quotes a word for a POSIX shell, so that people can copy a shown command. Pure. */

const PLAIN = /^[\w@%+=:,./-]+$/;
/**
 * References of the config stay references. Nothing else in the word may mean anything between double quotes.
 */
const WITH_REFERENCES = /^(?:[^"`\\!$]|\$\{\w+(?::-[^}"`\\!$]*)?\})*$/;

export function shellWord(word: string): string {
  if (PLAIN.test(word)) return word;
  return word.includes("${") && WITH_REFERENCES.test(word)
    ? `"${word}"`
    : `'${word.replaceAll("'", "'\\''")}'`;
}
