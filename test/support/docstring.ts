/** Writes sentences as a docstring, in lines of at most 120 columns. */
export function docstring(sentences: string, indent: string): string {
  const short = `${indent}/** ${sentences} */\n`;
  if (short.length <= 120) return short;
  const width = 120 - `${indent} * `.length;
  const lines = sentences.match(new RegExp(`\\S.{0,${width - 1}}(?= |$)`, 'g')) ?? [];
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}
