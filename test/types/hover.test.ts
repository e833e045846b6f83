import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hoversIn } from '../support/language-server.js';
import { root } from '../support/source-tree.js';

const author = `
import { allow, defineExtension, select } from 'sluice';
export default defineExtension({
  id: 'probe',
  setup(api) {
    api.veto('egress.preparing', 'a', (call) => {
      void call.payload./*?*/content;
      void call.payload./*?*/interactive;
      void call.annotations./*?*/indexKeys;
      return allow();
    });
    api.observe('egress.sent', 'b', ({ payload, event, annotations: { /*?*/labels } }) => {
      void [payload./*?*/to, event.payload./*?*/content, labels];
    });
    api.mutate('egress.preparing', 'c', ({ payload: { /*?*/threadId } }) => ({ /*?*/content: String(threadId) }));
    api.resolve('routing.resolving', 'e', ({ payload }) => {
      const route = { agentId: payload.message./*?*/conversationId ?? '' };
      return select(route);
    });
  },
});
`;

it('the language server of the compiler describes the fields of payloads, annotations and patches (A8)', async () => {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  const project = mkdtempSync(join(root, 'node_modules/.cache/sluice-hover-'));
  try {
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(root, join(project, 'node_modules/sluice'), 'junction');
    const compilerOptions = { target: 'ES2023', module: 'NodeNext', strict: true, types: [] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(project, 'author.ts'), author);
    const shown = await hoversIn(join(project, 'author.ts'));
    const described = shown.map((text) => text.slice(text.lastIndexOf('```') + 3).trim());
    expect(described).toEqual([
      'The text.',
      'The buttons, the list and the form under it.',
      'Keys under which a handler has filed this result or delivery.',
      'Words to sort or filter this event and what follows from it by.',
      'The address to send to, as the channel writes it.',
      'The text.',
      'The thread within the conversation.',
      'The text anew.',
      'The conversation: a chat, a channel, a room.',
    ]);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});
