import { defineExtension } from 'sluice';

export default defineExtension({
  id: 'dice',
  setup(api) {
    api.provide('tool', {
      name: 'dice',
      description: 'Throws a die with so many sides.',
      inputSchema: {
        type: 'object',
        properties: { sides: { type: 'integer', minimum: 2 } },
        required: ['sides'],
      },
      execute: ({ sides }) => `a ${1 + Math.floor(Math.random() * Number(sides))}`,
    });
  },
});
