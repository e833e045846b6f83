import { allow, ask, cancel, createKernel } from 'sluice-kernel';

export const kernel = createKernel();
kernel.contribute({
  family: 'agent.tool.calling',
  class: 'veto',
  extensionId: 'acme',
  id: 'shell',
  failClosed: true, // if it throws, the tool does not run
  handler({ payload: { toolName, params } }) {
    if (toolName !== 'shell') return allow();
    if (String(params.command).includes('rm ')) return cancel('policy', { text: 'No removals.' });
    return ask({ title: 'Run this command?' });
  },
});
