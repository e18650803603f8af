module dumbbell/utp

go 1.26

require github.com/anacrolix/go-libutp v1.5.1

require (
	github.com/anacrolix/log v0.13.1 // indirect
	github.com/anacrolix/missinggo v1.2.1 // indirect
	github.com/anacrolix/missinggo/perf v1.0.0 // indirect
	github.com/anacrolix/missinggo/v2 v2.10.0 // indirect
	github.com/anacrolix/mmsg v1.0.1 // indirect
	github.com/anacrolix/sync v0.0.0-20180808010631-44578de4e778 // indirect
	github.com/huandu/xstrings v1.3.2 // indirect
	golang.org/x/exp v0.0.0-20240823005443-9b4947da3948 // indirect
)
