export { createDirectoryAdmin, type DirectoryAdmin, type NewMerchant } from './admin.ts';
export { createDirectory, type Directory, type KeyHolder } from './directory.ts';
export { hashPublicKey, isLive } from './keys.ts';
export {
  DirectoryError,
  type Merchant,
  type MerchantKey,
  type MerchantLimits,
  type MerchantWallet,
  signingSecrets,
} from './merchant.ts';
export type { ChangeRefusal, Settings, SettingsChange } from './settings/change.ts';
export { createSettings } from './settings/changes.ts';
export { settingsOf } from './settings/fields.ts';
