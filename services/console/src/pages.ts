import { addActionsPage } from './pages/actions.ts';
import { addClosePages } from './pages/closes.ts';
import { addPaymentPage } from './pages/payment.ts';
import { addPaymentForms } from './pages/payment-forms.ts';
import { addPaymentsPage } from './pages/payments.ts';
import { addReconciliationPage } from './pages/reconciliation.ts';
import { addSandboxPages } from './pages/sandbox.ts';
import { addSearchPage } from './pages/search.ts';
import { addStatementPages } from './pages/statements.ts';
import { addTodayPage } from './pages/today.ts';
import { addUploadPage } from './pages/upload.ts';
import { addWalletPage } from './pages/wallet.ts';
import type { Sandbox } from './sandbox.ts';
import type { Routes } from './visits.ts';

/** Adds every page; that of the sandbox where there is one. */
export function addPages(routes: Routes, { sandbox }: { readonly sandbox?: Sandbox | undefined }): void {
  addTodayPage(routes);
  addActionsPage(routes);
  addSearchPage(routes);
  addPaymentsPage(routes);
  addPaymentPage(routes);
  addPaymentForms(routes);
  if (sandbox) addSandboxPages(routes, sandbox);
  addReconciliationPage(routes);
  addWalletPage(routes);
  addClosePages(routes);
  addUploadPage(routes);
  addStatementPages(routes);
}
