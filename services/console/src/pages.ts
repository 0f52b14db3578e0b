import { addActionsPage } from './pages/actions.ts';
import { addTodayPage } from './pages/today.ts';
import type { Routes } from './visits.ts';

/** Adds every page. */
export function addPages(routes: Routes): void {
  addTodayPage(routes);
  addActionsPage(routes);
}
