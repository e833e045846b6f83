import { type AskOptions, ask, type PayloadOf } from '../../src/kernel/internal.js';
import type { DecodedIngress } from '../../src/sdk/channel/index.js';
import type { ExtensionApi } from '../../src/sdk/extension/index.js';
import { type ActingLabOptions, actingLab } from './acting-lab.js';
import { deployer } from './deployer.js';
import { scriptedChannel } from './scripted-channel.js';

/** A channel in which `!NAME` is the press of a button. */
export function pressable() {
  return scriptedChannel({
    interactive: ['buttons'],
    decode: (raw): DecodedIngress | undefined => {
      const {
        text,
        conversation = 'scripted:ada',
        sender = 'ada',
      } = raw as {
        text: string;
        conversation?: string;
        sender?: string;
      };
      if (!text.startsWith('!')) return undefined;
      return {
        kind: 'interaction',
        senderProof: 'account',
        interaction: {
          ...{ interactionId: 'i', kind: 'button', name: text.slice(1), values: [] },
          ...{ channel: 'scripted', accountId: 'default', conversationId: conversation },
          sender: { id: sender },
        },
      };
    },
  });
}

export interface ApprovalLabOptions extends ActingLabOptions {
  readonly question?: Partial<AskOptions>;
  readonly argsOf?: (prompt: string) => string[];
  readonly ran?: string[];
  /** Says which calls are asked about; by default each is. */
  readonly isAsked?: (call: PayloadOf<'agent.tool.calling'>) => boolean;
}

/** A host whose agent deploys, and whose extension asks a human before. `ada` is an owner. */
export async function approvalLab({
  question = {},
  argsOf,
  ran = [],
  isAsked = () => true,
  ...options
}: ApprovalLabOptions = {}) {
  const lab = await actingLab({
    channel: pressable(),
    agents: [{ id: 'main', provider: deployer(ran, argsOf) }],
    roles: { owner: ['scripted:ada'] },
    ...options,
    setup: (api: ExtensionApi) => {
      api.veto('agent.tool.calling', 'deploys', ({ payload }) =>
        isAsked(payload) ? ask({ title: 'Deploy this?', ...question }) : undefined,
      );
      options.setup?.(api);
    },
  });
  const asked = () => lab.channel.sent.filter(({ kind }) => kind === 'approval');
  const button = (at: 0 | 1 = 0, question = -1): string =>
    asked()
      .filter(({ interactive }) => interactive !== undefined)
      .at(question)?.interactive?.buttons?.[at]?.id ?? '';
  const idOf = (question = -1): string => button(0, question).split(':')[2]?.slice(0, 8) ?? '';
  return { ...lab, ran, asked, button, idOf };
}

/** Lets the event loop turn until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 3_000) throw new Error('it never came to this');
    await new Promise(setImmediate);
  }
}
