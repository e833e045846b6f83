import { defineExtension } from 'sluice';

function poll(): void {
  // asks a server for news
}

export default defineExtension({
  id: 'poller',
  setup(api) {
    const timer = setInterval(poll, 60_000);
    api.own('poll timer', () => clearInterval(timer));
  },
});
