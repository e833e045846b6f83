import { describe, expect, it } from 'vitest';
import { ClaimedProvisions } from '../../../src/host/parts/claimed-provisions.js';
import { Accounts } from '../../../src/host/provided/accounts.js';
import { Routes } from '../../../src/host/provided/routes.js';
import { Tools } from '../../../src/host/provided/tools.js';
import { silentLogger } from '../../../src/kernel/internal.js';
import type { Registration } from '../../../src/sdk/extension/index.js';
import { Scope } from '../../../src/sdk/extension/index.js';
import { LiveExtension } from '../../../src/sdk/extension/load/live-extension.js';
import { openRegistration } from '../../../src/sdk/extension/load/registration-window.js';
import { createTestKernel, type TestKernelOptions } from '../../../src/testing/index.js';

const tea: Registration = {
  kind: 'schedule',
  name: 'tea',
  value: { handler: () => undefined },
};

/** An extension that has registered `tea`, before it goes live. */
function registered(options: Pick<TestKernelOptions, 'grants'> = {}) {
  const { kernel } = createTestKernel(options);
  const window = openRegistration('acme');
  window.register(tea, 'schedule');
  const parts = { kernel, extensionId: 'acme', manifest: {}, window, log: silentLogger };
  const extension = new LiveExtension({ ...parts, resources: new Scope('acme'), options: {} });
  return { window, extension };
}

describe('what an extension registers by name (extensions-that-act §5.4)', () => {
  it('is live with its handlers, and goes with them', async () => {
    const { extension } = registered();
    expect(extension.registered()).toEqual([]);
    extension.begin();
    expect(extension.registered()).toEqual([tea]);
    expect(extension.labels()).toEqual(['schedule tea']);
    await extension.dispose();
    expect(extension.registered()).toEqual([]);
  });

  it('needs its grant when it goes live', () => {
    const { extension } = registered({ grants: { acme: ['inject'] } });
    expect(() => extension.begin()).toThrow(
      expect.objectContaining({
        code: 'not-granted',
        message: expect.stringContaining('schedule'),
      }),
    );
    expect(extension.registered()).toEqual([]);
  });

  it.each([
    ['tea', 'there is one of that name already'],
    ['', 'its name must be a text of 1 to 200 characters without control characters'],
  ])('is refused with the name "%s" if %s', (name, problem) => {
    const { window } = registered();
    expect(() => window.register({ ...tea, name })).toThrow(
      expect.objectContaining({
        code: 'bad-registration',
        message: `acme: api.schedule("${name}"): ${problem}.`,
      }),
    );
  });

  it('is refused once setup has ended', () => {
    const { window } = registered();
    window.close();
    expect(() => window.register({ ...tea, name: 'later' })).toThrow(
      expect.objectContaining({ code: 'setup-ended' }),
    );
  });

  it('has an account of its own in the host, which goes with it', () => {
    const { extension } = registered();
    extension.begin();
    const accounts = new Accounts();
    const routes = new Routes([]);
    const tools = new Tools(silentLogger, []);
    const claimed = new ClaimedProvisions();
    const offers = { channels: [], agents: new Map(), commands: new Map(), providers: [] };
    claimed.take({ ...offers, accounts, routes, tools, logger: silentLogger }, extension);
    const account = accounts.find('sluice', 'schedule:acme/tea');
    const [taken] = claimed.registered('schedule');
    expect(taken).toMatchObject({ extensionId: 'acme', registration: tea, account });
    expect(account && claimed.registeredBy('schedule', account)).toBe(taken);
    expect(accounts.offered()).toEqual([]);
    claimed.drop(extension);
    expect(taken?.signal.aborted).toBe(true);
    expect(accounts.find('sluice', 'schedule:acme/tea')).toBeUndefined();
    expect(claimed.registered('schedule')).toEqual([]);
  });
});
