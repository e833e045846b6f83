import { defineConfig } from 'sluice/host';

const perPrincipal = { count: 20, windowMs: 60_000 };

export default defineConfig({
  extensions: [{ path: 'sluice-rate-limit', config: { perPrincipal, exemptRoles: ['owner'] } }],
});
