import { defineConfig } from 'sluice/host';

const perPrincipal = { count: 20, windowMs: 60_000 };
const config = { perPrincipal, exemptRoles: ['owner'], failClosed: true };

export default defineConfig({ extensions: [{ path: 'sluice-rate-limit', config }] });
