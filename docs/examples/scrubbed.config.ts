import { defineConfig } from 'sluice/host';

export default defineConfig({
  journal: {
    path: './sluice.db',
    scrub: {
      patterns: { email: true, card: true, ticket: 'T-[0-9]{6}' },
      fn: (text: string) => text.replaceAll('Project Falcon', '[project]'), // in a .ts or .js config
    },
  },
});
