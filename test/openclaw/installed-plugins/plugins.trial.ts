import process from 'node:process';
import { beforeAll, describe, expect, it } from 'vitest';
import { compiled } from '../../support/compiled.js';
import { corpus } from './corpus.js';
import { installPlugin } from './install.js';
import { record, recorded } from './record.js';
import { tryPlugin } from './try-plugin.js';

const { PLUGINS: asked, UPDATE_SPEC: updating } = process.env;
const tried = corpus.filter(({ id, absent, inCi }) => {
  if (absent !== undefined) return false;
  return asked === undefined ? inCi : asked === 'all' || asked.split(',').includes(id);
});

let program: string;

beforeAll(async () => {
  program = await compiled('test/openclaw/installed-plugins/child/program.ts');
});

describe('a published OpenClaw plugin', () => {
  it.concurrent.each(tried)('$id does here what docs/plugins-tried.md says', async (plugin) => {
    const installed = await installPlugin(plugin);
    const isNamed = plugin.spec === undefined || plugin.release !== undefined;
    let result = await tryPlugin(plugin, installed, program, isNamed);
    if (result.loads.startsWith('plugin-needs-sdk'))
      result = await tryPlugin(plugin, installed, program, true);
    if (updating === '1') record(plugin.id, result);
    else expect(result).toEqual(recorded()[plugin.id]);
  });
});
