import { telegramSurface } from '../../extensions/telegram/src/egress/surface.js';
import { chatApi } from '../../extensions/telegram/test/stream-lab.js';
import { chatPreviews, chatStreamSender } from '../../src/sdk/chat/index.js';
import { collectingLogger, virtualClock } from '../../src/testing/index.js';
import { describeStreamSender } from '../support/stream-sender-contract.js';

describeStreamSender('the stream sender of Telegram', {
  endsPreviews: true,
  message: { channel: 'telegram', accountId: 'default', to: 'telegram:42' },
  open: (permits) => {
    const clock = virtualClock();
    const { api, shown } = chatApi(clock);
    const config = { format: 'markdown' as const, mediaRoots: [] };
    const parts = {
      surface: telegramSurface({ apiOf: () => api, config }),
      inbox: () => undefined,
      clock,
      log: collectingLogger(),
      signal: new AbortController().signal,
    };
    return {
      sender: chatStreamSender(parts, permits),
      previews: chatPreviews(parts),
      settle: () => clock.advance(60_000),
      visible: () => [...shown.values()].map((text) => text.replace(/ ▌$/, '')),
    };
  },
});
