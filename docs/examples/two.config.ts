import { defineConfig } from 'sluice/host';

export default defineConfig({
  extensions: [{ path: './shout.ts', config: { maxLength: 500 } }, './dice.ts'],
});
