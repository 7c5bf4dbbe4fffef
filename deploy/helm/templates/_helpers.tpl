{{- define "tollgate.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* What the services select. The pods of the migration job must not match, because they would count as ready. */}}
{{- define "tollgate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end -}}

{{- define "tollgate.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "tollgate.image" -}}
{{- $repository := required "image.repository is required: build deploy/Dockerfile and push it" .Values.image.repository -}}
{{- $tag := required "image.tag is required" .Values.image.tag | toString -}}
{{- if hasPrefix "@" $tag -}}{{ $repository }}{{ $tag }}{{- else -}}{{ $repository }}:{{ $tag }}{{- end -}}
{{- end -}}

{{/* The parts that instances and jobs share: image, environment, declaration and scratch disk. */}}
{{- define "tollgate.container" -}}
image: {{ include "tollgate.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - secretRef:
      name: {{ required "existingSecret is required: it holds the database's address and the two secrets" .Values.existingSecret }}
env:
  - { name: TOLLGATE_DATA, value: /data }
  - { name: TOLLGATE_LAME_DUCK_MS, value: {{ .Values.lameDuckMs | int64 | quote }} }
  - { name: TOLLGATE_DRAIN_MS, value: {{ .Values.drainMs | int64 | quote }} }
  - { name: TOLLGATE_METRICS_HOST, value: 0.0.0.0 }
  - { name: TOLLGATE_METRICS_PORT, value: "9090" }
  {{- with .Values.publicUrl }}
  - { name: TOLLGATE_PUBLIC_URL, value: {{ . | quote }} }
  {{- end }}
  {{- if .Values.declaration }}
  - { name: TOLLGATE_CONFIG, value: /etc/tollgate/tollgate.yaml }
  {{- end }}
  {{- range $name, $value := .Values.env }}
  - { name: {{ $name }}, value: {{ $value | toString | quote }} }
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  {{- if .Values.declaration }}
  - { name: declaration, mountPath: /etc/tollgate, readOnly: true }
  {{- end }}
{{- end -}}

{{- define "tollgate.pod" -}}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: data
    emptyDir: { sizeLimit: {{ .Values.scratch.sizeLimit }} }
  - name: tmp
    emptyDir: {}
  {{- if .Values.declaration }}
  - name: declaration
    configMap: { name: {{ .declarationName }} }
  {{- end }}
{{- end -}}
