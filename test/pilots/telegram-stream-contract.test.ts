import { telegramPreviews } from '../../extensions/telegram/src/stream/previews.js';
import { telegramStreamSender } from '../../extensions/telegram/src/stream/stream-sender.js';
import { chatApi } from '../../extensions/telegram/test/stream-lab.js';
import { collectingLogger, virtualClock } from '../../src/testing/index.js';
import { describeStreamSender } from '../support/stream-sender-contract.js';

describeStreamSender('the stream sender of Telegram', {
  endsPreviews: true,
  message: { channel: 'telegram', accountId: 'default', to: 'telegram:42' },
  open: (permits) => {
    const clock = virtualClock();
    const { api, shown } = chatApi(clock);
    const parts = {
      apiOf: () => api,
      inbox: () => undefined,
      clock,
      log: collectingLogger(),
      config: { format: 'markdown' as const, mediaRoots: [] },
      signal: new AbortController().signal,
    };
    return {
      sender: telegramStreamSender(parts, permits),
      previews: telegramPreviews(parts),
      settle: () => clock.advance(60_000),
      visible: () => [...shown.values()].map((text) => text.replace(/ ▌$/, '')),
    };
  },
});
