import { defineConfig } from 'sluice/host';

export default defineConfig({
  overrides: { 'spell-check/words': { mode: 'audit' } },
});
