import { describe, it } from 'vitest';
import { hostTexts } from '../../src/host/texts/host-texts.js';
import { expectFresh, heading, table } from '../support/generated.js';

const about =
  'These are the sentences that a host says to people (event-pipeline §20.13). `texts` of the config replaces them by language and key; `{name}` in a\n' +
  'sentence is the place of a value. A command of an extension or a plugin has its line in `/help` under `about-NAME`. The README of an extension has the\n' +
  'keys of its own sentences. [Operating](../docs/operating.md#another-language) has all of them in German.';

describe('the sentences of a host', () => {
  it('are listed in spec/texts.md', () => {
    const rows = Object.entries(hostTexts).map(([key, text]) => [`\`${key}\``, `\`${text}\``]);
    expectFresh(
      'spec/texts.md',
      `${heading('Sentences', about, 'test/spec/texts.test.ts')}\n${table(['key', 'in English'], rows)}\n`,
    );
  });
});
