import { defineExtension } from 'sluice';

export default defineExtension({
  id: 'ping',
  setup(api) {
    api.provide('command', {
      name: 'ping',
      description: 'Answers with its arguments.',
      runsAtOnce: true, // it does not wait for the turn that runs
      forAnyone: true, // a sender who may give no commands may give this one
      run: ({ args }) => ['pong', ...args].join(' '),
    });
  },
});
