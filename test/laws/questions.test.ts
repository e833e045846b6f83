import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLab, type LabKernel, type LabOutcome } from '../support/kernel-lab.js';
import { askingPrograms, install, type Program, payloads } from '../support/kernel-programs.js';
import { askingStages } from '../support/kernel-stages.js';

/** More programs with `LAW_RUNS=10000`. */
const numRuns = Number(process.env['LAW_RUNS'] ?? 200);

const families = ['lab.asking', 'lab.asking-closed'] as const;

function labOf(family: string, list: readonly Program[], order?: readonly number[]): LabKernel {
  const { kernel } = createLab({ stages: askingStages });
  install(kernel, family, list, (_, i) => order?.[i] ?? -i);
  return kernel;
}

/** Says yes to every question, as the emitters do. */
async function sayYes(kernel: LabKernel, family: string, asked: LabOutcome): Promise<LabOutcome[]> {
  const passes: LabOutcome[] = [];
  const answered = [];
  let outcome = asked;
  while (outcome.cancel?.question !== undefined) {
    answered.push(outcome.cancel.question.asker);
    outcome = await kernel.dispatch(family, outcome.payload, {
      answered: [...answered],
      after: outcome,
    });
    passes.push(outcome);
  }
  return passes;
}

describe('a dispatch whose vetoes ask', () => {
  it('is denied, then asked, then allowed, whatever the order (judgement §4.3)', async () => {
    const family = 'lab.asking'; // on the other, a dispatch without a candidate fails
    const seen = { passed: 0, asked: 0, denied: 0 };
    const vetoes = askingPrograms(5).map((list) => list.filter((one) => one.class === 'veto'));
    await fc.assert(
      fc.asyncProperty(
        vetoes,
        payloads,
        fc.infiniteStream(fc.nat(99)),
        async (list, payload, order) => {
          const orders = [undefined, list.map(() => order.next().value as number)];
          const verdicts = [];
          for (const one of orders) {
            const outcome = await labOf(family, list, one).run(family, structuredClone(payload));
            const isOpen = outcome.cancel?.question !== undefined;
            verdicts.push(isOpen ? 'asked' : outcome.status === 'passed' ? 'passed' : 'denied');
          }
          const [first] = verdicts;
          expect(new Set(verdicts).size).toBe(1);
          if (first !== undefined) seen[first as keyof typeof seen]++;
        },
      ),
      { numRuns },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(3);
  });

  it.each(families)(
    'does not pass while a question is open, on %s (judgement §4.3)',
    async (family) => {
      let open = 0;
      await fc.assert(
        fc.asyncProperty(askingPrograms(5), payloads, async (list, payload) => {
          const last = new Map<string, string>();
          const { kernel } = createLab({ stages: askingStages });
          install(
            kernel,
            family,
            list,
            (_, i) => -i,
            (handler, { id }) =>
              (call, own) => {
                const result = handler(call, own); // a failure leaves the word before
                last.set(id, (result as { readonly kind?: string } | undefined)?.kind ?? 'nothing');
                return result;
              },
          );
          const outcome = await kernel.run(family, structuredClone(payload));
          const asks = [...last.values()].includes('ask');
          if (asks) open++;
          if (asks) expect(outcome.status).not.toBe('passed');
          if (outcome.status === 'passed') expect(outcome.cancel).toBeUndefined();
        }),
        { numRuns },
      );
      expect(open).toBeGreaterThan(20);
    },
  );

  it.each(families)(
    'is changed by no answer: payload, annotations and choice stay, on %s (judgement §4.5)',
    async (family) => {
      let passes = 0;
      await fc.assert(
        fc.asyncProperty(askingPrograms(5), payloads, async (list, payload) => {
          const kernel = labOf(family, list);
          const asked = await kernel.run(family, structuredClone(payload));
          for (const pass of await sayYes(kernel, family, asked)) {
            passes++;
            expect(pass.payload).toEqual(asked.payload);
            expect(pass.annotations).toEqual(asked.annotations);
            expect(pass.selection).toEqual(asked.selection);
            expect(pass.changes).toEqual([]);
            expect(pass.candidates).toEqual([]);
          }
        }),
        { numRuns: 3 * numRuns }, // few programs of a closed stage pass
      );
      expect(passes).toBeGreaterThan(0);
    },
  );
});
