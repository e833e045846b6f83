import type { AgentEventPayload } from '@sluice/sdk/stream';
import type { Logger } from 'sluice-kernel';
import type { OpenClawClient } from '../client/client.js';
import { badOption } from '../client/client-options.js';
import type { RunLimits } from '../run/gateway-run.js';
import type { CircuitOptions } from './circuit.js';

/** The options of an agent behind a gateway. Times are in milliseconds. */
export interface OpenClawAgentProviderOptions {
  readonly client: OpenClawClient;
  /** The agent's id on the gateway: letters, digits, `_` and `-`. */
  readonly agentId: string;
  /** From the acknowledgement to the end of a run; 120,000 by default. */
  readonly agentTimeoutMs?: number;
  /** For the connection, and again for the acknowledgement; 10,000 by default. */
  readonly sendAckTimeoutMs?: number;
  /** How long a run may say nothing; for ever by default. */
  readonly idleTimeoutMs?: number;
  /** How long an error of the agent waits for its retry, which the gateway makes under the same id; 0 by default. */
  readonly errorGraceMs?: number;
  readonly circuit?: CircuitOptions & {
    /** Errors of the agent open the circuit, too. A gateway that tells them works, so by default they do not. */
    readonly countAgentErrors?: boolean;
  };
  /**
   * The messages that content and final of `triggerStream` hold if the agent says several in a run, as it does around
   * its tools: the `last` (the default, as seed 003 has it), or `all`, with a blank line between them.
   */
  readonly messages?: 'last' | 'all';
  /** Puts the sender's name before what was said; yes by default. A turn's prompt is sent as it is. */
  readonly prefixSender?: boolean;
  /** The key of a session on the gateway. @param id the session's, or else the chat's. */
  readonly sessionKey?: (id: string) => string;
  /** Sees the tool events of `triggerStream`, which are no deltas, and of turns. */
  readonly onTool?: (event: AgentEventPayload) => void;
  /** Makes ids that no other run has had. */
  readonly newId?: () => string;
  readonly logger?: Logger;
}

/** Checks options, and fills in the numbers. @throws SluiceError `bad-client-option`. */
export function providerLimits(options: OpenClawAgentProviderOptions): RunLimits {
  const { agentId, circuit = {} } = options;
  if (!/^[\w-]+$/.test(agentId)) throw badOption('agentId', 'it has letters, digits, _ and - only');
  const limits = {
    agentTimeoutMs: options.agentTimeoutMs ?? 120_000,
    sendAckTimeoutMs: options.sendAckTimeoutMs ?? 10_000,
    idleTimeoutMs: options.idleTimeoutMs,
    errorGraceMs: options.errorGraceMs ?? 0,
  };
  const { errorGraceMs, ...others } = limits;
  const positive = {
    ...others,
    idleTimeoutMs: limits.idleTimeoutMs ?? 1,
    'circuit.threshold': circuit.threshold ?? 1,
    'circuit.cooldownMs': circuit.cooldownMs ?? 1,
  };
  for (const [option, value] of Object.entries(positive))
    if (!(Number.isFinite(value) && value > 0)) throw badOption(option, 'it is a number above 0');
  if (!(errorGraceMs >= 0)) throw badOption('errorGraceMs', 'it is a number from 0 up');
  return limits;
}
