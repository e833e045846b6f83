import { defineConfig } from 'sluice/host';

export default defineConfig({
  roles: {
    owner: ['telegram:12345'],
    admin: ['telegram:12345', 'telegram/work:67890'],
  },
});
