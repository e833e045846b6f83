export * from '@sluice/sdk/channel';
