import { expect, it } from 'vitest';
import { type DispatchTapOptions, dispatchTap } from '../../../src/host/timeline/dispatch-tap.js';
import type { NewDispatch } from '../../../src/journal/index.js';
import { createKernel } from '../../../src/kernel/internal.js';
import { samplePayload } from '../../../src/testing/index.js';

it('a record names the versions of the extensions whose handlers were asked, if they are told (record §1.6)', async () => {
  const versionsIn = async (options: DispatchTapOptions) => {
    const kept: NewDispatch[] = [];
    const tap = dispatchTap({ dispatched: (one) => void kept.push(one) }, options);
    const kernel = createKernel({ trace: true, tap });
    for (const extensionId of ['judge', 'watch'])
      kernel.contribute({
        ...{ extensionId, id: 'one', family: 'egress.sent', class: 'observer' },
        handler: () => undefined,
      });
    await kernel.dispatch('egress.sent', samplePayload('egress.sent'));
    return kept.map(({ body }) => JSON.parse(body).versions);
  };
  expect(await versionsIn({})).toEqual([undefined]);
  const versions = (id: string) => (id === 'judge' ? '1.2.3' : undefined);
  expect(await versionsIn({ versions })).toEqual([{ judge: '1.2.3' }]);
});
