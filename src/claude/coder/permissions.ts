import { Recent } from '@sluice/sdk/stream/internal';
import type { CoderBody } from './blocks/coder-body.js';
import type { PermissionDecision } from './blocks/coder-event.js';

/** A tool call that wants leave. */
export interface PermissionRequest {
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input?: unknown;
  /** The subagent that asks; absent in the main thread. */
  readonly agentId?: string;
  readonly requestId?: string;
}

interface Told {
  readonly request: PermissionRequest;
  /** The last one; nothing while it waits. */
  decision: PermissionDecision | undefined;
}

/** So many calls are remembered. */
const calls = 256;

/**
 * Tells each request for leave once, and each decision once, however many tell of it: the host's callbacks, a
 * frame on an automatic denial, and the result's list of denials (C9).
 */
export function permissionsTold(emit: (body: CoderBody) => void) {
  const toldCalls = new Recent<string, Told>(calls);
  const known = ({ toolUseId }: PermissionRequest): Told | undefined =>
    toolUseId === '' ? undefined : toldCalls.get(toolUseId);

  function ask(request: PermissionRequest): Told {
    const told: Told = { request, decision: undefined };
    toldCalls.set(request.toolUseId, told);
    emit({ type: 'permission', request });
    return told;
  }

  return {
    request(request: PermissionRequest): void {
      if (known(request) === undefined) ask(request);
    },

    /** Tells a decision. If no request came before, the request is told first. */
    decide(request: PermissionRequest, decision: PermissionDecision): void {
      const told = known(request) ?? ask(request);
      if (told.decision === decision) return;
      told.decision = decision;
      emit({ type: 'permission', request: told.request, decision });
    },
  };
}
