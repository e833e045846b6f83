import { defineExtension } from 'sluice';
import { z } from 'zod';
import { contributePolicies } from './contribute.js';

export { contributePolicies } from './contribute.js';
export { PolicyError, type Problem, problemText } from './problem.js';
export { type Policies, type PolicyText, policiesOf, readPolicies } from './read-policies.js';
export type { Rule } from './rule.js';
export type { Verdict } from './rule-schema.js';

const config = z.strictObject({ policies: z.array(z.string().min(1)).min(1) });

/** Turns rules of YAML files into vetoes, one each, named `policy/<id>`. The README has the settings. */
export default defineExtension({
  id: 'policy',
  manifest: { version: '0.2.0', sluice: '~0.2.0' },
  config,
  setup: async (api, { policies }) => void (await contributePolicies(api, policies)),
});
