import { type FakeChannel, type FakeChannelOptions, fakeChannel } from '../../src/testing/index.js';

export type {
  FakeChannel as ScriptedChannel,
  FakeChannelOptions as ScriptedChannelOptions,
  Said,
} from '../../src/testing/index.js';

/** The fake channel of the kit, by the name that the project's tests use. */
export function scriptedChannel(options: FakeChannelOptions = {}): FakeChannel {
  return fakeChannel({ id: 'scripted', bringsAfterStop: true, ...options });
}
