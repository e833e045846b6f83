import type { Given, Outcome, PayloadOf } from 'sluice';
import { type LoadedForTest, loadForTest } from 'sluice/testing';
import threadOwnership from '../src/index.js';
import { type Answer, type ScriptedService, scriptedService } from './scripted-service.js';

type Fields<F extends 'ingress.normalized' | 'egress.preparing'> = Partial<PayloadOf<F>>;

/** The extension in a kernel of its own, and the service that it asks. */
export interface OwnershipLab extends AsyncDisposable {
  readonly test: LoadedForTest;
  readonly service: ScriptedService;
  /** The requests so far, as `POST <path>`. */
  asked(): string[];
  /** A message comes in, in the thread 17.5 of C1 on Slack where it is not said otherwise. */
  hear(content: string, fields?: Fields<'ingress.normalized'>): Promise<Outcome>;
  /** A message is to go out there. */
  send(
    fields?: Fields<'egress.preparing'>,
    given?: Given<'egress.preparing'>,
  ): Promise<Outcome<'egress.preparing'>>;
}

/** Whose the extension is, in most tests. */
export const testBot = { id: 'test-agent', identity: { name: 'TestBot' } };

/** Loads the extension beside a service. */
export async function ownershipLab({
  answer,
  ...config
}: { readonly answer?: Answer } & Readonly<Record<string, unknown>> = {}): Promise<OwnershipLab> {
  const service = await scriptedService(answer);
  const test = await loadForTest(threadOwnership, {
    config: { forwarderUrl: service.url, agents: [testBot], ...config },
  });
  const place = { channel: 'slack', conversationId: 'C1', threadId: '17.5' };
  return {
    test,
    service,
    asked: () => service.asked.map(({ line }) => line),
    hear: async (content, fields) =>
      await test.dispatch('ingress.normalized', {
        ...place,
        content,
        ...fields,
      }),
    send: (fields, given) =>
      test.dispatch('egress.preparing', { ...place, to: 'C1', explicit: true, ...fields }, given),
    [Symbol.asyncDispose]: async () => {
      await test.dispose();
      await service[Symbol.asyncDispose]();
    },
  };
}
