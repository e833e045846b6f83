import { defineCommand, defineExtension } from 'sluice';
import { z } from 'zod';

const roll = defineCommand({
  name: 'roll',
  description: 'Throws dice.',
  usage: '<sides> [count]',
  args: z.object({
    sides: z.coerce.number().int().min(2),
    count: z.coerce.number().int().max(20).default(1),
  }),
  run: ({ args: { sides, count } }) =>
    Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides)).join(', '),
});

export default defineExtension({
  id: 'dice-command',
  setup: (api) => api.provide('command', roll),
});
