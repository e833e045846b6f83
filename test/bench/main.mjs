import { writeFileSync } from 'node:fs';
import { readOptions } from './options.mjs';
import { asMarkdown, asText } from './print.mjs';
import { measureAll } from './run.mjs';

const forms = { text: asText, markdown: asMarkdown };

try {
  const options = readOptions(process.argv.slice(2));
  if (options.text !== undefined) process.stdout.write(options.text);
  else {
    const began = performance.now();
    const say = (what) => {
      process.stderr.write(`[${((performance.now() - began) / 1_000).toFixed(0)} s] ${what}\n`);
    };
    const figures = measureAll(options, say);
    if (options.json !== undefined)
      writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
    process.stdout.write(`${forms[options.form](figures)}\n`);
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
