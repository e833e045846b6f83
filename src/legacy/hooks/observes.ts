/** What the rows of all hooks that only watch have in common. */
export const observes = {
  kind: 'void',
  coverage: ['observe'],
  status: 'bridged',
  merge: 'none: nothing is returned',
  instead: 'nothing: this hook only observes',
  result: () => undefined,
} as const;
