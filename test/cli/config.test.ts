import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/cli/config.js';
import { errorLine } from '../../src/cli/error-line.js';

function refusalOf(text: string): string {
  try {
    parseConfig(text, 'sluice.json');
  } catch (error) {
    return errorLine(error, false);
  }
  return 'accepted';
}

describe('a config file', () => {
  it('may leave everything out', () => {
    expect(parseConfig('{}', 'sluice.json')).toEqual({
      extensions: [],
      plugins: [],
      openclaw: {},
      grants: {},
      overrides: {},
    });
  });

  it.each([
    ['{', 'is not JSON'],
    ['[]', 'at its top level'],
    ['{ "agent": "eco" }', 'at agent: expected "echo", "replay:FILE", "claude" or "claude:MODEL"'],
    ['{ "extensions": [{ "path": 1 }] }', 'at extensions[0].path'],
    ['{ "grants": { "acme": "x" } }', 'at grants.acme'],
    ['{ "overrides": { "a/b": { "timeoutMs": -1 } } }', 'at overrides["a/b"].timeoutMs'],
    ['{ "extension": [] }', 'Did you mean "extensions"?'],
    ['{ "overrides": { "a/b": { "timeoutms": 1 } } }', 'Did you mean "timeoutMs"?'],
    ['{ "extensions": [{ "path": "x", "zzzzzz": 1 }] }', 'Known keys: path, config.'],
  ])('%s is refused in a line that names the file and the place', (text, expected) => {
    const line = refusalOf(text);
    expect(line).toMatch(/^sluice: bad-config: sluice\.json/);
    expect(line).toContain(expected);
    expect(line).not.toContain('\n');
  });
});
