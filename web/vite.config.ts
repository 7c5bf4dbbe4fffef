import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `npm run dev` talks to a gateway that runs beside it. */
const gateway = process.env['TOLLGATE_URL'] ?? 'http://127.0.0.1:8080'

export default defineConfig(({ command }) => ({
  // Relative: the console is served below whatever path a proxy gives it.
  base: command === 'build' ? './' : '/console/',
  plugins: [react(), tailwindcss()],
  build: {
    target: 'es2023',
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    // Every page has the router: with it in one file, signing in takes 20 files of 27, and 2.1 KiB of 130 less.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'router', test: /@tanstack[\\/](?:react-router|router-core|history|store|react-store)[\\/]/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/admin': gateway, '/v1': gateway } },
}))
