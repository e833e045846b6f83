import { defineConfig } from 'sluice/host';

export default defineConfig({
  agents: [
    { id: 'main', provider: 'claude', systemPrompt: 'Answer in one sentence.', timeoutMs: 120_000 },
  ],
  extensions: [
    { path: './quiet-hours.js', config: { from: '22:00', token: { env: 'QUIET_TOKEN' } } },
  ],
  overrides: { 'quiet-hours/night': { timeoutMs: 2_000 } }, // the operator has the last word on a handler
  budgets: { drainTimeoutMs: 20_000 }, // after SIGTERM
  failureText: { busy: 'Please try again in a minute.', other: 'Sorry, that did not work.' },
});
