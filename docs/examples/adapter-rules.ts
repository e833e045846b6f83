import { allow, ask, cancel, createKernel } from 'sluice-kernel';

export const kernel = createKernel();
const acme = { extensionId: 'acme', failClosed: true } as const; // a rule that fails lets nothing through

kernel.contribute({
  ...{ ...acme, family: 'agent.tool.calling', class: 'mutator', id: 'few' },
  handler: ({ payload: { params } }) =>
    Number(params.limit) > 10 ? { params: { limit: 10 } } : undefined,
});
kernel.contribute({
  ...{ ...acme, family: 'agent.tool.calling', class: 'veto', id: 'shell' },
  handler({ payload: { toolName, params } }) {
    if (toolName !== 'shell') return allow();
    if (String(params.command).includes('rm ')) return cancel('policy', { text: 'No removals.' });
    return ask({ title: `Run ${params.command}?`, timeoutMs: 60_000 });
  },
});
kernel.contribute({
  ...{ ...acme, family: 'agent.tool.returning', class: 'mutator', id: 'secrets' },
  handler: ({ payload: { result } }) => ({
    result: {
      ...result,
      content: result.content.map((block) =>
        block.type === 'text' ? { ...block, text: block.text.replace(/sk-\w+/g, '[key]') } : block,
      ),
    },
  }),
});
kernel.contribute({
  ...{ ...acme, family: 'agent.llm.returning', class: 'veto', id: 'leak' },
  handler: ({ payload: { text } }) =>
    text.includes('sk-') ? cancel('unsafe', { reply: 'I may not say that.' }) : allow(),
});
