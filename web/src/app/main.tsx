import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from '@tanstack/react-router'
import { openLanguage } from '../lib/language.ts'
import { withoutSecret } from '../lib/search.ts'
import { router } from './router.tsx'
import './styles.css'

const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
const clean = withoutSecret(location.href)
if (clean !== undefined) history.replaceState(history.state, '', clean)
await openLanguage()
createRoot(root).render(
  <StrictMode>
    <RouterProvider router={router} />
  </StrictMode>,
)
