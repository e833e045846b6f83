import type { Draft } from '../convert/draft.js';
import { promptMark } from '../state/prompts.js';

/** The text of `sluice.config.ts`. */
export function configText({ config, channels, extensions, plugins }: Draft): string {
  const { agents, defaultAgent, ...rest } = config;
  const all = {
    agents,
    ...(defaultAgent !== undefined && { defaultAgent }),
    channels: channels.length > 0 ? channels : ['console'],
    extensions,
    ...(plugins.length > 0 && { plugins }),
    ...rest,
  };
  const mark = JSON.stringify(promptMark).slice(1, -1).replaceAll('\\', '\\\\');
  const prompts = new RegExp(`"${mark}((?:[^"\\\\]|\\\\.)*)"`, 'g');
  const text = JSON.stringify(all, null, 2);
  const { length } = JSON.stringify({ agents }, null, 2).slice(0, -2); // a plugin's text may look like a mark
  const written =
    text
      .slice(0, length)
      .replaceAll(
        prompts,
        (_, list: string) => `prompt(${String(JSON.parse(`"${list}"`)).slice(1, -1)})`,
      ) + text.slice(length);
  const reads = written.includes(': prompt(');
  return `${reads ? "import { readFileSync } from 'node:fs';\n" : ''}import { defineConfig } from 'sluice/host';

// Written by \`sluice import openclaw\`. import-report.md says what became of each setting.
${reads ? "const prompt = (...files: string[]): string =>\n  files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\\n\\n');\n\n" : '\n'}export default defineConfig(${written});
`;
}
