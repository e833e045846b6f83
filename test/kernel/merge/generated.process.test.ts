import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { expect, it } from 'vitest';

const tsx = new URL('../../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;

const program = `
import { canGenerateCode } from './src/kernel/merge/generated.ts';
import { createKernel } from './src/kernel/internal.ts';
import { samplePayload } from './src/testing/index.ts';

const kernel = createKernel();
const at = { family: 'ingress.normalized', extensionId: 'test' };
kernel.contribute({ ...at, class: 'mutator', id: 'shout', handler: () => ({ content: 'X' }) });
kernel.contribute({ ...at, class: 'augmenter', id: 'note', handler: () => ({ notes: ['n'] }) });
const { payload, annotations, failures } = await kernel.dispatch(at.family, samplePayload(at.family));
const { content } = payload;
console.log(JSON.stringify({ canGenerateCode: canGenerateCode(), content, ...annotations, failures }));
`;

it('merges by the reference in a process that forbids code from strings (§6.1)', () => {
  const flags = ['--disallow-code-generation-from-strings', '--import', tsx];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', program],
    { cwd: new URL('../../..', import.meta.url), encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    canGenerateCode: false,
    content: 'X',
    notes: ['n'],
    failures: [],
  });
});
