# Figures of r_samples.json by R 4 with nortest, MASS and emmeans, from files d*.csv with columns y, x, g
# and h, and files l*.csv with the responses of a two-level design in standard order.
suppressMessages({library(jsonlite);library(nortest);library(MASS);library(emmeans)})
options(warn=-1,digits=17)
out<-list()
ll<-function(l,f,d){y<-d$y; z<-if(abs(l)<1e-10) log(y) else (y^l-1)/l; d$z<-z; m<-lm(update(f,z~.),d); n<-length(y); -n/2*log(sum(resid(m)^2)/n)+(l-1)*sum(log(y))}
bc<-function(f,d){o<-optimize(function(l)ll(l,f,d),c(-6,6),maximum=TRUE,tol=1e-10);b<-o$maximum;t<-o$objective-qchisq(.95,1)/2;g<-function(l)ll(l,f,d)-t
 lo<-tryCatch(uniroot(g,c(-30,b),tol=1e-10)$root,error=function(e)NA);hi<-tryCatch(uniroot(g,c(b,30),tol=1e-10)$root,error=function(e)NA);list(lambda=b,low=lo,high=hi)}
for(f in sort(Sys.glob('d*.csv'))){d<-read.csv(f,stringsAsFactors=TRUE)
 a<-tryCatch(ad.test(d$y),error=function(e)NULL);l<-lillie.test(d$y)
 r<-list(file=f,ad=if(is.null(a))NULL else unname(c(a$statistic,a$p.value)),lillie=unname(c(l$statistic,l$p.value)))
 r$bc_g<-bc(y~g,d); r$bc_gx<-bc(y~g+x,d)
 m<-lm(y~g+h+x,d); e<-tryCatch({s<-summary(emmeans(m,'g',weights='proportional',level=.95));list(level=as.character(s$g),mean=s$emmean,low=s$lower.CL,high=s$upper.CL)},error=function(e)NULL)
 r$em<-e
 p<-tryCatch(as.data.frame(summary(pairs(emmeans(m,'g')),infer=TRUE,adjust='none')),error=function(e)NULL); if(!is.null(p)) r$pairs<-list(c=as.character(p$contrast),est=p$estimate,se=p$SE,p=p$p.value)
 out[[f]]<-r}
for(f in sort(Sys.glob('l*.csv'))){y<-read.csv(f)$y;n<-length(y);k<-log2(n);M<-matrix(1,n,1);nm<-'I';for(i in 1:k){s<-rep(c(-1,1),each=2^(i-1),length.out=n);M<-cbind(M,M*s);nm<-c(nm,ifelse(nm=='I',LETTERS[i],paste0(nm,LETTERS[i])))}
 e<-drop(crossprod(M[,-1],y))/(n/2);m<-length(e);s0<-1.5*median(abs(e));pse<-1.5*median(abs(e)[abs(e)<2.5*s0]);me<-qt(.975,m/3)*pse;sme<-qt((1+.95^(1/m))/2,m/3)*pse
 out[[f]]<-list(file=f,effects=as.list(setNames(e,nm[-1])),pse=pse,me=me,sme=sme)}
write(toJSON(out,digits=17,auto_unbox=TRUE,na='null'),'r.json')
